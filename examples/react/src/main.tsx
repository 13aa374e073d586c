import '@fanfare/react/style.css';
import './style.css';
import { FanfareProvider } from '@fanfare/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

/** Your own backend signs it for who is signed in there; here the server of the page does. */
async function token(): Promise<string> {
  const response = await fetch('/token', { cache: 'no-store' });
  if (!response.ok) throw new Error(`No token: ${String(response.status)}`);
  return response.text();
}

const root = document.getElementById('root');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <FanfareProvider url="/graphql" token={token} readerKey="demo">
        <App />
      </FanfareProvider>
    </StrictMode>,
  );
