// Written by `fanfare schema --types`, from the declared types of actions. A change here is lost.

export const fields = {
  action: `descriptor { type summary
  ... on CustomDescriptor { verb objectType objectId targetId data }
  ... on RecipeCookedDescriptor { recipeId recipeName withId withName rating note pictures { url alt kind width height blurhash } }
  }`,
};
