import type { Part } from '../../src/app/part.ts';
import { addOperators } from './src/index.ts';

export const operators = { commands: addOperators } satisfies Part;
