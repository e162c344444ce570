"""The recommender: `recommend(request, catalog) -> Recommendation`, and how it moves: `sensitivity`."""

from tools.recommend.recommend import recommend
from tools.recommend.sensitivity import sensitivity

__all__ = ["recommend", "sensitivity"]
