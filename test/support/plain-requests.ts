import type { WireRequest } from './wire.ts';

export const ORIGIN = 'https://app.example';
export const ME = 'query Me { viewer { memberId } }';
export const PAGE = `query Page($first: Int = 2) {
  feed(first: $first) {
    edges { cursor node { id isUnread action { id conducted scope actor { name } descriptor { summary } viewer { hasLiked } } } }
    pageInfo { hasNextPage }
  }
}`;
export const TWO = 'query A { a: __typename } query B { viewer { memberId } }';
export const FOLLOW = 'mutation Follow($ref: String!) { follow(refId: $ref) { __typename } }';
export const WATCH = 'subscription Watch { feedEvents { __typename cursor } }';
export const NODES = 'query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } viewer { memberId } }';
export const MANY =
  'query Many { feed(first: 100) { edges { node { action { actor { name } refs { label } } } } } }';

export const json = (body: unknown): string => JSON.stringify(body);

/** Of ann, with their names. Each is answered with status 200 and no errors. */
export const PLAIN: readonly (readonly [string, WireRequest])[] = [
  ['ids of nothing', { body: json({ query: NODES, variables: { ids: ['x', 'y'] } }) }],
  ['a query', { body: json({ query: ME }) }],
  ['a page', { body: json({ query: PAGE, variables: { first: 3 } }) }],
  ['a page of the default size', { body: json({ query: PAGE, variables: {} }) }],
  ['an operation by its name', { body: json({ query: TWO, operationName: 'B' }) }],
  [
    'nothing but nulls',
    { body: json({ query: ME, operationName: null, variables: null, extensions: null }) },
  ],
  ['extensions', { body: json({ query: ME, extensions: { clientLibrary: { name: 'apollo' } } }) }],
  ['a mutation', { body: json({ query: FOLLOW, variables: { ref: 'site' } }) }],
  ['introspection', { body: json({ query: '{ __schema { queryType { name } } }' }) }],
  ['a body in chunks', { isChunked: true, body: json({ query: ME }) }],
  [
    'another character set of the same name',
    { headers: { 'content-type': 'application/json; charset=UTF-8' }, body: json({ query: ME }) },
  ],
  ['no accept header', { headers: { accept: null }, body: json({ query: ME }) }],
  ...[
    ...['*/*', 'application/*', 'application/json', 'application/graphql-response+json'],
    'application/graphql-response+json, application/json;q=0.9',
    'application/json, application/graphql-response+json',
    'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
    'multipart/mixed;deferSpec=20220824, application/json',
    'APPLICATION/JSON ; charset=utf-8',
    'text/html, */*;q=0.1',
    'application/json;charset=latin1, application/graphql-response+json',
  ].map((accept) => [`accept: ${accept}`, { headers: { accept }, body: json({ query: ME }) }] as const),
  ['a page of an origin that may', { headers: { origin: ORIGIN }, body: json({ query: ME }) }],
  ['a page of another origin', { headers: { origin: 'https://evil.example' }, body: json({ query: ME }) }],
  ['a page of no origin', { headers: { origin: 'null' }, body: json({ query: ME }) }],
  ['an old version of HTTP', { version: '1.0', body: json({ query: ME }) }],
  [
    'text beyond ASCII',
    { body: json({ query: 'query Wörter { __typename }'.replace('ö', 'o'), variables: { ä: null } }) },
  ],
  ['a property twice', { body: `{"query":"{ nothing }","query":${json(ME)}}` }],
];

/** What of it is not so. */
export const OTHER: readonly (readonly [string, WireRequest])[] = [
  ['a host of no name', { headers: { host: 'no host at all' }, body: json({ query: ME }) }],
  ['a fault of a field', { body: json({ query: PAGE, variables: { first: 1_000 } }) }],
  ['a fault beside data', { body: json({ query: '{ a: __typename node(id: "x") { id } }' }) }],
  ['a mutation that is refused', { body: json({ query: FOLLOW, variables: { ref: '' } }) }],
  ['a mutation for others', { body: json({ query: 'mutation { upsertRefs(refs: []) }' }) }],
  ['variables of a wrong type', { body: json({ query: PAGE, variables: { first: 'x' } }) }],
  ['variables that are missing', { body: json({ query: FOLLOW }) }],
  ['variables nobody declared', { body: json({ query: ME, variables: { x: 1 } }) }],
  ['variables that are a list', { body: json({ query: ME, variables: [] }) }],
  [
    'an operation that costs too much',
    {
      body: json({
        query: `{ ${Array.from({ length: 60 }, (_, n) => `f${String(n)}: feed(first: 100) { edges { node { id action { refs { label } } } } }`).join(' ')} }`,
      }),
    },
  ],
  ['a field that is not there', { body: json({ query: '{ nothing }' }) }],
  ['no GraphQL', { body: json({ query: '{ viewer {' }) }],
  ['an empty document', { body: json({ query: '' }) }],
  ['too long a document', { body: json({ query: `${ME} # ${'x'.repeat(200_000)}` }) }],
  [
    'a document too deep',
    { body: json({ query: `{ ${'viewer { '.repeat(20)} memberId ${'}'.repeat(20)} }` }) },
  ],
  ['two operations and no name', { body: json({ query: TWO }) }],
  ['a name that is not there', { body: json({ query: TWO, operationName: 'C' }) }],
  ['an empty name', { body: json({ query: TWO, operationName: '' }) }],
  ['a name that is a number', { body: json({ query: TWO, operationName: 1 }) }],
  ['a subscription', { body: json({ query: WATCH }) }],
  ['a stream', { headers: { accept: 'text/event-stream' }, body: json({ query: WATCH }) }],
  [
    'a query of a client that takes events alone',
    { headers: { accept: 'text/event-stream' }, body: json({ query: ME }) },
  ],
  [
    'a query of a client that takes parts alone',
    { headers: { accept: 'multipart/mixed' }, body: json({ query: ME }) },
  ],
  ['a client that takes no answer', { headers: { accept: 'text/html' }, body: json({ query: ME }) }],
  ['an accept header of nonsense', { headers: { accept: '*/json, a/b/c' }, body: json({ query: ME }) }],
  ['an unknown property', { body: json({ query: ME, doc_id: '1' }) }],
  ['a property of the prototype', { body: `{"query":${json(ME)},"__proto__":{}}` }],
  ['an unknown property that is null', { body: json({ query: ME, doc_id: null }) }],
  ['extensions that are a list', { body: json({ query: ME, extensions: [] }) }],
  ['a query that is a number', { body: json({ query: 1 }) }],
  ['a batch', { body: json([{ query: ME }, { query: ME }]) }],
  ['an empty batch', { body: '[]' }],
  ['an empty object', { body: '{}' }],
  ['null', { body: 'null' }],
  ['no JSON', { body: '{' }],
  ['no body', {}],
  ['no UTF-8', { body: Buffer.from([0x7b, 0xff, 0x7d]) }],
  [
    'JSON that is too deep',
    { body: json({ query: ME }).replace('}', `,"variables":${'['.repeat(100)}${']'.repeat(100)}}`) },
  ],
  ['a body that is too large', { body: json({ query: ME, extensions: { x: 'x'.repeat(300_000) } }) }],
  ['a body encoded further', { headers: { 'content-encoding': 'gzip' }, body: json({ query: ME }) }],
  ...[
    'text/plain',
    'application/graphql',
    'multipart/form-data; boundary=x',
    'Application/JSON',
    'application/graphql+json',
    'application/json; charset=latin1',
    'application/json, text/plain',
    'application/jsonp',
  ].map(
    (type) =>
      [`content-type: ${type}`, { headers: { 'content-type': type }, body: json({ query: ME }) }] as const,
  ),
  ['no content type', { headers: { 'content-type': null }, body: json({ query: ME }) }],
  ['nobody', { headers: { authorization: null }, body: json({ query: ME }) }],
  [
    'nobody who asks for the schema',
    { headers: { authorization: null }, body: json({ query: '{ __typename }' }) },
  ],
  ['a bad token', { headers: { authorization: 'Bearer x' }, body: json({ query: ME }) }],
  [
    'headers of a request that browsers send ahead',
    { headers: { origin: ORIGIN, 'access-control-request-headers': 'x-a' }, body: json({ query: ME }) },
  ],
  ['a query in the URL', { method: 'GET', path: `/graphql?query=${encodeURIComponent(ME)}` }],
  [
    'a mutation in the URL',
    { method: 'GET', path: `/graphql?query=${encodeURIComponent('mutation { upsertRefs(refs: []) }')}` },
  ],
  ['POST with a query in the URL', { path: '/graphql?query=x', body: json({ query: ME }) }],
  ...['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH'].map(
    (method) => [method, { method, headers: { origin: ORIGIN }, body: '' }] as const,
  ),
  ...['/graphql/', '/GRAPHQL', '/nowhere', '/graphql#x', '//graphql'].map(
    (path) => [`the path ${path}`, { path, body: json({ query: ME }) }] as const,
  ),
];
