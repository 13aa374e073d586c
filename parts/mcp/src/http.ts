import type { IncomingMessage } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { apiClient } from '../../../src/cli/api-client.ts';
import type { Config } from '../../../src/config/config.ts';
import { requireRole } from '../../../src/core/validate.ts';
import { GRAPHQL_PATH, sendJson, type Handler } from '../../../src/http/exchange/respond.ts';
import type { HttpContext } from '../../../src/http/http-context.ts';
import { enter, sendError } from '../../../src/http/admission.ts';
import { TENANT_HEADER, unauthenticated } from '../../../src/http/identity/auth.ts';
import { maxBodyOf, readJsonBody } from '../../../src/http/limits/intake.ts';
import { checkReadiness } from '../../../src/http/pages/health.ts';
import type { Identity } from '../../../src/domain/viewer.ts';
import { createMcpServer, type McpParts } from './server.ts';

/** Streamable HTTP without sessions: each request has its token, and is answered at once. */
export function createMcp(http: HttpContext, { settings }: Config, mayWrite: boolean): Handler {
  return async (req, res) => {
    if (req.method !== 'POST') {
      sendJson(res, 405, { error: 'Method not allowed' }, { allow: 'POST' });
      return;
    }
    const startedAt = performance.now();
    try {
      const { caller } = await enter(http, req);
      const { identity } = caller;
      if (identity === null) throw unauthenticated('This requires a token: authorization: Bearer <token>');
      using underWay = http.intake.open(caller);
      const { limits } = http;
      const options = { maxBytes: maxBodyOf(caller, limits), bounds: limits.json, underWay };
      const body = await readJsonBody(req, options);
      const server = await createMcpServer({
        mayWrite,
        api: apiOf(req),
        inspect: inspections(http, settings, identity),
      });
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      res.once('close', () => void server.close().catch(() => undefined));
      await server.connect(transport);
      await transport.handleRequest(req, res, body);
      http.observer.finished('mcp', undefined, startedAt);
    } catch (error) {
      const shown = http.observer.presentError(error);
      http.observer.finished('mcp', [shown], startedAt);
      sendError(http, res, shown);
    }
  };
}

/** The API of this server, asked as the caller asks: with the same token, and the same rights and limits. */
function apiOf({ socket, headers }: IncomingMessage): McpParts['api'] {
  const { localAddress = '127.0.0.1', localPort } = socket;
  const host = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
  const tenant = headers[TENANT_HEADER]?.toString();
  return apiClient({
    url: `http://${host}:${String(localPort)}${GRAPHQL_PATH}`,
    token: (headers.authorization ?? '').replace(/^Bearer +/i, ''),
    headers: tenant === undefined ? {} : { [TENANT_HEADER]: tenant },
  });
}

/** Who may see these is who may see the work of a server. */
function inspections(
  { readiness, probes }: HttpContext,
  all: Config['settings'],
  identity: Identity,
): McpParts['inspect'] {
  return {
    async doctor() {
      requireRole(identity, 'admin');
      return await (readiness?.() ?? checkReadiness(probes));
    },
    settings() {
      requireRole(identity, 'admin');
      return Promise.resolve(
        all.map(([name, { shownDefault, meaning }]) => ({ name, default: shownDefault, meaning })),
      );
    },
  };
}
