import type { Part } from '../../src/app/part.ts';
import { addMcp, mcpRoutes } from './src/index.ts';

export const mcp = { commands: addMcp, routes: mcpRoutes } satisfies Part;
