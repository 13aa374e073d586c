import { printedSchema } from '../graphql/printed-schema.ts';
import type { CommandContext } from './context.ts';

/** Prints the API's schema for this configuration, for code generators and reviews. */
export function schema({ terminal }: CommandContext): void {
  terminal.out(printedSchema().trimEnd());
}
