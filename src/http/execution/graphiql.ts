import type { GraphiQLOptions, Plugin } from 'graphql-yoga';
import { PAGE_SCRIPT } from './graphiql-script.ts';
import type { RequestContext } from './operation-context.ts';
import { isOwnVisitor } from '../identity/own-visitor.ts';
import { ownCommand } from '../../lib/package-info.ts';

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
  let page: Promise<readonly [string, string]> | undefined;
  async function render(): Promise<readonly [string, string]> {
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    const html = renderGraphiQL({ title: TITLE, defaultQuery });
    const at = html.indexOf(SCRIPT_PLACE);
    if (at === -1) throw new Error('The query page has no place for its script');
    const [before = '', after = ''] = `<script>${PAGE_SCRIPT}</script>`.split(TOKEN_PLACE);
    return [html.slice(0, at) + SCRIPT_PLACE + before, after + html.slice(at + SCRIPT_PLACE.length)];
  }
  return () => (page ??= render());
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
