import type { Part } from '../../src/app/part.ts';
import { BOOKMARKS } from './src/store.ts';

export const bookmarks = {
  collections: [BOOKMARKS],
  api: () => import('./src/api.ts'),
} satisfies Part;
