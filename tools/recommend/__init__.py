"""The recommender: `recommend(request, catalog) -> Recommendation`."""

from tools.recommend.recommend import recommend

__all__ = ["recommend"]
