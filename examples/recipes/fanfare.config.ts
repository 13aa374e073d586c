import { defineConfig, defineDescriptor, field } from '@fanfare/server';

export default defineConfig({
  packs: [],
  reactions: ['😋', '👏'],
  descriptors: [
    defineDescriptor('RecipeCooked', {
      description: 'Somebody cooked a recipe.',
      fields: {
        recipeId: field.ref('recipe', { label: 'recipeName' }),
        recipeName: field.text(),
        withId: field.person({
          name: 'withName',
          optional: true,
          notifies: true,
          description: 'Who cooked too.',
        }),
        withName: field.text({ optional: true }),
        rating: field.int({
          min: 1,
          max: 5,
          optional: true,
          shownAs: 'rating',
          description: 'Stars, from 1 to 5.',
        }),
        note: field.text({ max: 2_000, optional: true, shownAs: 'body', description: 'How it went.' }),
        pictures: field.media({ optional: true, description: 'What it looks like.' }),
      },
      summary: {
        en: ['{actor} cooked {recipeId} with {withId}', '{actor} cooked {recipeId}'],
        de: ['{actor} hat mit {withId} {recipeId} gekocht', '{actor} hat {recipeId} gekocht'],
      },
    }),
  ],
});
