import { connect, type NatsConnection } from '@nats-io/transport-node';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * A connection to a server of NATS, which ends once it is lost: who uses it opens another one.
 * @param url `nats://` with a user and a password, or with a token in place of both
 */
export function connectNats(url: string, name: string): Promise<NatsConnection> {
  const { host, username, password } = new URL(url);
  const user = decodeURIComponent(username);
  const credentials =
    user === '' ? {} : password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
  return connect({ servers: host, ...credentials, name, reconnect: false, timeout: CONNECT_TIMEOUT_MS });
}
