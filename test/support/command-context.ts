import type { CommandContext } from '../../src/app/command-shapes.ts';
import { BROUGHT } from '../../src/app/brought.ts';

/** What a command is given. */
export function commandContext(given: Pick<CommandContext, 'env' | 'terminal'>): CommandContext {
  return { ...given, brought: BROUGHT, composed: () => import('../../src/app/composed.ts') };
}
