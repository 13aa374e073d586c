/**
 * Runs in the query page before GraphiQL. Fills in the token, also in tabs that the browser restored with an older token,
 * and holds back requests without one; the documentation is loaded once a request with a valid token was sent.
 */
export const PAGE_SCRIPT = `
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
