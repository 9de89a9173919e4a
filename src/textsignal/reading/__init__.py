"""What a TextResponseModel holds once it is fitted: topics on a matrix of terms, or themes and tone on sentences."""
