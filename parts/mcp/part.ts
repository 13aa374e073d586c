import type { Part } from '../../src/app/part.ts';
import { addMcp, mcpRoutes } from './src/index.ts';
import { MCP } from './src/settings.ts';

export const mcp = { settings: MCP, commands: addMcp, routes: mcpRoutes } satisfies Part;
