import '@fanfare/react/tokens.css';
import '@fanfare/react/feed.css';
import './style.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { host } from './host.ts';
import { loadLanguage } from './words/language.ts';

const root = document.getElementById('root');
// Not awaited at the top: then the bundler would make thirty files of what is one.
const signedIn = host.accounts && import('./sign-in.tsx').then(({ resume }) => resume());
void Promise.all([loadLanguage(), signedIn]).then(() => {
  if (root !== null)
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    );
});
