import { defineConfig, defineDescriptor, field } from '@fanfare/server';

// Two types with a field of one name and two kinds: see `ratingOf…` in what is written of them.
export default defineConfig({
  packs: ['social'],
  descriptors: [
    defineDescriptor('RecipeCooked', {
      description: 'Somebody cooked a recipe.',
      fields: {
        recipeId: field.ref('recipe', { label: 'recipeName' }),
        recipeName: field.text(),
        rating: field.float({ min: 0, max: 5, optional: true, description: 'Stars, from 0 to 5.' }),
        note: field.text({ optional: true }),
        course: field.enum(['STARTER', 'MAIN', 'DESSERT'], { optional: true }),
        cookedAt: field.dateTime({ optional: true }),
        pictures: field.media({ max: 4, optional: true }),
        data: field.json(),
      },
      summary: { en: '{actor} cooked {recipeId}' },
    }),
    defineDescriptor('RecipeRated', {
      description: 'Somebody rated a recipe.',
      fields: {
        recipeId: field.ref('recipe', { label: 'recipeName' }),
        recipeName: field.text(),
        rating: field.int({ min: 1, max: 5 }),
      },
      summary: { en: '{actor} rated {recipeId}' },
    }),
  ],
});
