/** One function for all: they share one client and one socket. */
export async function getToken() {
  const response = await fetch('/token', { cache: 'no-store' });
  return response.text();
}
