import type { GraphiQLOptions, Plugin } from 'graphql-yoga';
import type { RequestContext } from './operation-context.ts';
import { isOwnVisitor } from '../identity/own-visitor.ts';
import { ownCommand } from '../../lib/package-info.ts';
import { once } from '../../lib/once.ts';

/**
 * Runs in the query page before GraphiQL. Fills in the token, also in tabs that the browser restored with an older token,
 * and holds back requests without one; the documentation is loaded once a request with a valid token was sent.
 */
const PAGE_SCRIPT = `
(() => {
  const token = __FANFARE_TOKEN__;
  const HINT = 'Put a token under "Headers" below the query: {"authorization": "Bearer …"}';
  // Not that of the console, whose sign-out would be undone.
  const GIVEN = 'fanfare:graphiql-token';
  const TABS = 'graphiql:tabState';
  const HEADERS = 'graphiql:headers';

  function refreshed(headers) {
    const earlier = localStorage.getItem(GIVEN);
    const isOwn = !headers || !headers.trim() || /Bearer\\s*"/.test(headers) || (earlier && headers.includes(earlier));
    return isOwn ? JSON.stringify({ authorization: 'Bearer ' + token }, null, 2) : headers;
  }
  try {
    if (token !== '') {
      const state = JSON.parse(localStorage.getItem(TABS) || '{"tabs":[]}');
      for (const tab of state.tabs) tab.headers = refreshed(tab.headers);
      if (state.tabs.length > 0) localStorage.setItem(TABS, JSON.stringify(state));
      localStorage.setItem(HEADERS, refreshed(localStorage.getItem(HEADERS)));
      localStorage.setItem(GIVEN, token);
    }
  } catch {
    // Without storage, or with foreign contents in it, the page starts as for the first time.
  }

  const send = window.fetch.bind(window);
  const waiting = [];
  window.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (/^Bearer\\s+\\S/i.test(request.headers.get('authorization') || '')) {
      const response = await send(request.clone());
      if (response.status !== 401)
        for (const go of waiting.splice(0)) go(request.headers.get('authorization'));
      return response;
    }
    const text = request.method === 'GET' ? request.url : await request.clone().text();
    if (!/__schema|IntrospectionQuery/.test(text))
      return Response.json({ errors: [{ message: HINT }] });
    return new Promise((resolve) => {
      waiting.push((authorization) => {
        const headers = new Headers(request.headers);
        headers.set('authorization', authorization);
        resolve(send(new Request(request, { headers })));
      });
    });
  };
})();
`;

const hint = (): string => `# Put a token under "Headers" below: {"authorization": "Bearer …"}
# ${ownCommand()} token --help makes one.
`;
const FIRST_QUERY = `query Feed {
  feed(first: 10) {
    edges {
      node {
        relevancy
        isUnread
        action {
          conducted
          actor { name }
          descriptor { summary }
        }
      }
    }
  }
}
`;

const TITLE = 'Fanfare';

/** Placeholder for the token, read by the page's script. */
const TOKEN_PLACE = '__FANFARE_TOKEN__';
const SCRIPT_PLACE = '<div id="root"></div>';

/**
 * Yoga options for the query page.
 * @param token filled in when the user who started this process opens the page on the same machine; absent: never
 */
export function graphiqlOf(token: string | undefined): {
  readonly graphiql: (request: Request, context: RequestContext) => Promise<GraphiQLOptions>;
  readonly renderGraphiQL: (options?: GraphiQLOptions) => Promise<string>;
} {
  const pageWithHint = createPage(hint() + FIRST_QUERY);
  const page = createPage(FIRST_QUERY);
  return {
    graphiql: async (request, { caller: { connection } }) => {
      const isOwn = connection !== undefined && (await isOwnVisitor(request.headers, connection));
      return { headers: isOwn ? (token ?? '') : '' };
    },
    renderGraphiQL: async (options) => {
      const filled = options?.headers ?? '';
      const [head, tail] = await (filled === '' ? pageWithHint() : page());
      return head + JSON.stringify(filled) + tail;
    },
  };
}

/**
 * The page, split at the place of the token; it needs nothing from other servers. It has several megabytes, so it is loaded
 * and rendered once, on first use.
 */
function createPage(defaultQuery: string): () => Promise<readonly [string, string]> {
  async function render(): Promise<readonly [string, string]> {
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    const html = renderGraphiQL({ title: TITLE, defaultQuery });
    const at = html.indexOf(SCRIPT_PLACE);
    if (at === -1) throw new Error('The query page has no place for its script');
    const [before = '', after = ''] = `<script>${PAGE_SCRIPT}</script>`.split(TOKEN_PLACE);
    return [html.slice(0, at) + SCRIPT_PLACE + before, after + html.slice(at + SCRIPT_PLACE.length)];
  }
  return once(render);
}

/** Allows no other source, no frame and no cache, since the page may contain a token. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

export function pagePolicy(): Plugin {
  return {
    onResponse({ response }) {
      if (response.headers.get('content-type')?.startsWith('text/html') !== true) return;
      for (const [name, value] of Object.entries(PAGE_HEADERS)) response.headers.set(name, value);
    },
  };
}
