import { printedSchema } from '../graphql/printed-schema.ts';
import type { CommandContext } from './context.ts';

/** Prints what the API of this configuration offers, for generators of types and for reviews. */
export function schema({ terminal }: CommandContext): void {
  terminal.out(printedSchema().trimEnd());
}
