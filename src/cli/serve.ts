import { ROLES } from '../domain/viewer.ts';
import { configOf } from './config-of.ts';
import type { CommandContext } from './context.ts';
import { withSecret } from './kept-secret.ts';
import { packageVersion } from './package-info.ts';
import { openRuntime, type Runtime } from './runtime.ts';
import { signToken } from './sign-token.ts';

const WELCOME_TOKEN_MS = 7 * 86_400_000;

/** Runs the API, and unless told otherwise a worker, until a signal comes. */
export async function serve(context: CommandContext, options: { readonly worker: boolean }): Promise<void> {
  const { config, keptIn } = await withSecret(configOf(context));
  const stop = new AbortController();
  const runtime = await openRuntime(context, {
    config,
    parts: { api: true, worker: options.worker },
    voice: 'server',
    stop,
  });
  if (stop.signal.aborted) return;
  for (const line of await welcome(runtime, keptIn)) context.terminal.out(line);
}

async function welcome({ app, config, databases }: Runtime, keptIn: string | null): Promise<string[]> {
  const lines = [
    '',
    `Fanfare ${await packageVersion()} is ready.`,
    '',
    `  GraphQL    ${app.url ?? ''}/graphql${config.http.graphiql ? '   (GraphiQL in a browser)' : ''}`,
    `  Databases  ${databases}`,
  ];
  if (keptIn !== null) lines.push(`  Secret     JWT_SECRET is not set: made one, kept in ${keptIn}`);
  // In production nobody should find the keys of the house in its log.
  if (!config.isProduction && config.auth.jwtSecret !== undefined) {
    const expiresAt = new Date(Date.now() + WELCOME_TOKEN_MS);
    const token = await signToken(config.auth, { sub: 'demo', roles: ROLES, expiresAt });
    lines.push(
      `  Token      user "demo" with the roles ${ROLES.join(', ')}, for 7 days:`,
      '',
      `authorization: Bearer ${token}`,
      '',
      '  Other tokens: npx fanfare token --help      Something to see: npx fanfare demo --help',
    );
  }
  return [...lines, ''];
}
