import { filledIn } from './host.ts';

/** What to type for the command line, as the server says: it depends on how the package came here. */
export function ownCommand(): string {
  return filledIn('command');
}
