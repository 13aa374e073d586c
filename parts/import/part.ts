import type { Part } from '../../src/app/part.ts';
import { addImport } from './src/index.ts';

export const imports = { commands: addImport } satisfies Part;
