import { printedSchema } from '../graphql/in-process.ts';
import type { CommandContext } from './context.ts';

/** Prints the API's schema for this configuration, for code generators and reviews. */
export async function schema({ terminal }: CommandContext): Promise<void> {
  terminal.out((await printedSchema()).trimEnd());
}
