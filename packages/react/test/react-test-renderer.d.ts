/** What the tests use of it: the package has no types. */
declare module 'react-test-renderer' {
  import type { ReactElement } from 'react';

  export function act(change: () => Promise<unknown>): Promise<void>;
  export function create(element: ReactElement): { toJSON(): unknown; unmount(): void };
}
