import { bumpPart } from './bump.ts';
import { fanOutPart } from './fan-out.ts';
import { pagePart } from './page.ts';
import type { Part } from './part.ts';
import { publishPart } from './publish.ts';

/** All parts, in the order in which they run. */
export const PARTS: readonly Part[] = [fanOutPart, bumpPart, pagePart, publishPart];
