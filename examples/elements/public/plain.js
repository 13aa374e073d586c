/** One function for all: they share one client and one socket. */
async function getToken() {
  const response = await fetch('/token', { cache: 'no-store' });
  return response.text();
}

for (const element of document.querySelectorAll('fanfare-bell, fanfare-feed, fanfare-slice'))
  element.getToken = getToken;
