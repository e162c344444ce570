"""Prometheus metrics of one process; replicas are scraped one by one."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60)


class Metrics:
    """All metrics over a registry of their own: two applications in one process do not meet."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("gsa_requests", "HTTP requests", ["path", "status"], registry=self.registry)
        self.request_seconds = Histogram(
            "gsa_request_seconds", "Time to the end of a response", ["path"], buckets=_SECONDS,
            registry=self.registry,
        )  # fmt: skip
        self.answers = Counter(
            "gsa_answers", "Answers by channel, kind and outcome", ["channel", "kind", "outcome"],
            registry=self.registry,
        )  # fmt: skip
        self.stage_seconds = Histogram(
            "gsa_stage_seconds", "Time of a stage: wait, a tool by name, answer", ["stage"], buckets=_SECONDS,
            registry=self.registry,
        )  # fmt: skip
        self.notices = Counter(
            "gsa_notices",
            "Model answers replaced by the built-in one, by reason: model_failed, model_unfit, …",
            ["code"], registry=self.registry,
        )  # fmt: skip
        self.tokens = Counter(
            "gsa_model_tokens", "Tokens of the language model", ["direction"], registry=self.registry
        )
        self.shed = Counter("gsa_shed", "Questions refused because too many waited", registry=self.registry)
        self.in_flight = Gauge("gsa_answers_in_flight", "Answers being made", registry=self.registry)
        self.store_faults = Counter(
            "gsa_store_faults", "Writes lost because the database was away", registry=self.registry
        )

    def text(self) -> bytes:
        """The exposition format that Prometheus scrapes."""
        return generate_latest(self.registry)
