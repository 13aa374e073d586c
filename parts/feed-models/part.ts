import type { Part } from '../../src/app/part.ts';
import { models } from './src/index.ts';

export const feedModels = { feedModels: models } satisfies Part;
