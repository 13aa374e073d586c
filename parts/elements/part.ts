import type { Part } from '../../src/app/part.ts';

export const elements = {
  routes: () => [
    { path: '/elements.js', load: async () => (await import('./src/script.ts')).elementsScript() },
  ],
} satisfies Part;
