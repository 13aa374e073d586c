import type { Environment } from './env.ts';

/** Adds the reactions of a host's configuration to the environment unless the environment sets them. */
export function withReactions(env: Environment, reactions: readonly string[] | null): Environment {
  if (reactions === null || (env['REACTIONS'] ?? '') !== '') return env;
  return { ...env, REACTIONS: reactions.join(',') };
}
