"""Families and billing rules: no fact of them hangs in the air."""

from __future__ import annotations

from knowledge.catalog import shipped_catalog

CATALOG = shipped_catalog()


def test_every_family_of_the_documents_has_facts_and_every_fact_a_family() -> None:
    documented = {row.family for row in CATALOG.instances if row.status != "unknown"}
    documented -= {"gn5t"}  # in the API only, where it is marked as old
    described = {row.family for row in CATALOG.family_facts}
    assert documented <= described
    assert described <= set(CATALOG.families)


def test_every_rule_speaks_of_a_family_type_or_currency_that_exists() -> None:
    known = {"", "USD", *CATALOG.families, *(row.instance_type for row in CATALOG.instances)}
    regions = {"", "mainland", *CATALOG.regions_by_id}
    for rule in CATALOG.billing_rules:
        assert rule.scope in known, rule
        assert rule.region_id in regions, rule


def test_the_month_of_288_or_480_hours_agrees_with_the_published_months() -> None:
    checked = 0
    for row in CATALOG.prices:
        if row.purchase != "subscription_1m" or not row.comparable or row.currency != "CNY":
            continue
        instance = CATALOG.instance(row.instance_type)
        rule = CATALOG.billing_rule("month_list_hours", instance.instance_type) or CATALOG.billing_rule(
            "month_list_hours", instance.family
        )
        hour = CATALOG.price(row.instance_type, row.region_id)
        if rule is None or rule.value is None or hour is None:
            continue
        assert abs(row.price / hour.price / rule.value - 1) < 0.002, row.instance_type
        checked += 1
    assert checked >= 25


def test_families_called_linear_are_linear_but_for_the_named_exceptions() -> None:
    for family in ("gn7e", "gn7i", "gn6e", "gn6v", "gn7"):
        assert CATALOG.billing_rule("linear_in_gpus", family) is not None
        by_shape: dict[tuple[str, float], set[float]] = {}
        for instance in CATALOG.in_family(family):
            for region in CATALOG.regions_by_id:
                price = CATALOG.price(instance.instance_type, region)
                excepted = CATALOG.billing_rule("not_linear", instance.instance_type, region)
                if price is None or excepted is not None or instance.whole_gpus < 1:
                    continue
                key = region, instance.vcpu / instance.whole_gpus
                by_shape.setdefault(key, set()).add(float(price.price) / instance.whole_gpus)
        for key, prices in by_shape.items():
            assert max(prices) <= 1.002 * min(prices), (family, key)
