import type { CommandContext } from '../../src/app/command-shapes.ts';
import { FEED_MODEL_NAMES } from '../../src/app/feed-models.ts';

/** What a command is given. */
export function commandContext(given: Pick<CommandContext, 'env' | 'terminal'>): CommandContext {
  return { ...given, feedModels: FEED_MODEL_NAMES, composed: () => import('../../src/app/composed.ts') };
}
