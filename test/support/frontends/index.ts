import { openScreenOf, PACKAGES } from './packages.ts';
import { openRelay } from './relay.ts';
import type { OpenScreen } from './screen.ts';
import { openTanstackQuery } from './tanstack-query.ts';

/** Every frontend of docs/frontends.md: by a package, or by a recipe. */
export const FRONTENDS: readonly (readonly [name: string, open: OpenScreen])[] = [
  ...PACKAGES.map(([name, open]) => [name, openScreenOf(open)] as const),
  ['Relay', openRelay],
  ['TanStack Query', openTanstackQuery],
];
