import type { Environment } from './env.ts';

/** The environment with the reactions of a host's configuration, where it says nothing of them. */
export function withReactions(env: Environment, reactions: readonly string[] | null): Environment {
  if (reactions === null || (env['REACTIONS'] ?? '') !== '') return env;
  return { ...env, REACTIONS: reactions.join(',') };
}
