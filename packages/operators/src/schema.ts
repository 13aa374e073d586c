import { printedSchema } from '../../../src/graphql/in-process.ts';
import type { CommandContext } from '../../../src/cli/context.ts';

/** Prints the API's schema for this configuration, for code generators and reviews. */
export async function schema({ terminal }: CommandContext): Promise<void> {
  terminal.out((await printedSchema()).trimEnd());
}
