import type { Server } from 'node:http';

/** Listens at a free port and says where, so that the process that started this one knows. */
export function listen(server: Server, announce: (place: string) => string): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No port');
    console.log(announce(`127.0.0.1:${String(address.port)}`));
  });
}
