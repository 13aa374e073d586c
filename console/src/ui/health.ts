/** What /ready says, the state first. Rejects when the server is away. */
export async function fetchReadiness(): Promise<string> {
  const response = await fetch('/ready', { cache: 'no-store' });
  const { status, checks = {} } = (await response.json()) as {
    readonly status: string;
    readonly checks?: Readonly<Record<string, unknown>>;
  };
  const parts = Object.entries(checks).map(
    ([name, state]) => `${name} ${typeof state === 'string' ? state : JSON.stringify(state)}`,
  );
  return [status, ...parts].join(', ');
}
