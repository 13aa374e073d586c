import type { Config } from '../config/config.ts';
import { readConfig } from '../config/read-config.ts';
import { FEED_MODEL_NAMES } from '../packages/feed-models.ts';
import type { CommandContext } from './context.ts';

/** @param options.needsKey whether the command signs or verifies tokens; default true. @throws ConfigError */
export function configOf(context: CommandContext, options: { readonly needsKey?: boolean } = {}): Config {
  return readConfig(context.env, { feedModels: FEED_MODEL_NAMES, ...options });
}
