// Written by `fanfare schema --types`, from the declared types of actions. A change here is lost.

export const fields = {
  action: `descriptor { type summary
  ... on PostedDescriptor { postId postTitle text media { url alt kind width height blurhash } }
  ... on FollowedDescriptor { followedId followedName }
  ... on LikedDescriptor { objectType objectId objectName }
  ... on CommentedDescriptor { postId postTitle commentId text }
  ... on CustomDescriptor { verb objectType objectId targetId data }
  ... on RecipeCookedDescriptor { recipeId recipeName ratingOfRecipeCooked: rating note course cookedAt pictures { url alt kind width height blurhash } data }
  ... on RecipeRatedDescriptor { recipeId recipeName ratingOfRecipeRated: rating }
  }`,
};
