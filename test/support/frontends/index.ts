import { openApollo } from './apollo.ts';
import { openRelay } from './relay.ts';
import type { OpenScreen } from './screen.ts';
import { openTanstackQuery } from './tanstack-query.ts';
import { openUrql } from './urql.ts';

/** Every frontend that docs/frontends.md has a recipe for. */
export const FRONTENDS: readonly (readonly [name: string, open: OpenScreen])[] = [
  ['Apollo Client', openApollo],
  ['urql', openUrql],
  ['Relay', openRelay],
  ['TanStack Query', openTanstackQuery],
];
