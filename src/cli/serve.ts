import type { CommandContext, Running } from '../app/command-shapes.ts';
import { ROLES } from '../domain/viewer.ts';
import { ownCommand, packageVersion } from '../lib/package-info.ts';
import { configOf } from './context.ts';
import { withSecret } from './kept-secret.ts';
import { openRuntime, type ServerParts } from './runtime.ts';

export interface ServeOptions {
  readonly worker: boolean;
  /** Default: one. */
  readonly processes?: number;
  readonly telemetry?: boolean;
}

/** Runs the API and, unless disabled, a worker, until a signal arrives. */
export async function serve(
  context: CommandContext,
  { people, ...server }: ServerParts,
  options: ServeOptions,
): Promise<void> {
  const { worker, processes = 1, telemetry: traces = false } = options;
  const { config, keptIn } = await withSecret(configOf(context));
  const parts = { api: true, worker, traces, people };
  const several = await server.processes?.();
  if (several?.isMember(context) === true) {
    await several.runMember(context, config, parts);
    return;
  }
  const stop = new AbortController();
  const runtime =
    several !== undefined && processes > 1
      ? await several.runGroup(context, { config, parts, count: processes, stop })
      : await openRuntime(context, { config, parts, voice: 'server', stop });
  if (stop.signal.aborted) return;
  for (const line of welcome(runtime, keptIn, await packageVersion())) context.terminal.out(line);
}

function welcome(
  { app, config, databases, demoToken }: Running,
  keptIn: string | null,
  version: string,
): string[] {
  const url = app.url ?? '';
  const lines = [
    '',
    `Fanfare ${version} is ready.`,
    '',
    ...(config.http.console ? [`  Console    ${url}/console`] : []),
    `  GraphQL    ${url}/graphql${config.http.graphiql ? '   (GraphiQL in a browser)' : ''}`,
    `  Databases  ${databases}`,
  ];
  if (keptIn !== null)
    lines.push(`  Secret     JWT_SECRET is not set: using a generated one, stored in ${keptIn}`);
  // Not in production, where no token should be in the log.
  if (!config.isProduction && demoToken !== null) {
    lines.push(
      `  Token      user "demo" with the roles ${ROLES.join(', ')}, for 7 days:`,
      '',
      `authorization: Bearer ${demoToken}`,
      '',
      `  Other tokens: ${ownCommand()} token --help      Something to see: ${ownCommand()} demo --help`,
    );
  }
  return [...lines, ''];
}
