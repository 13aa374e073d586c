import type { AddCommands } from '../../../src/app/command-shapes.ts';
import { TENANT, TOKEN } from '../../../src/cli/context.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Route } from '../../../src/http/route.ts';
import { MCP } from './settings.ts';
import type { McpOptions } from './stdio.ts';

/** `fanfare mcp`. */
export const addMcp: AddCommands = (program, context) => {
  program
    .command('mcp')
    .description('tools for programs that speak the Model Context Protocol, over stdin and stdout')
    .option('--url <url>', 'address of the server; default: the one that runs on DATA_DIR')
    .option(...TOKEN)
    .option(...TENANT)
    .option('--write', 'also tools that change something: hide_action, resolve_report')
    .action(async (options: McpOptions) => {
      const { serveStdio } = await import('./stdio.ts');
      await serveStdio(context(), options);
    });
};

/** `/mcp`. */
export function mcpRoutes(config: Config): readonly Route[] {
  const tools = config.of(MCP);
  if (tools === 'off') return [];
  const load: Route['load'] = async (of) =>
    (await import('./http.ts')).createMcp(of, config, tools === 'write');
  return [{ path: '/mcp', load }];
}
