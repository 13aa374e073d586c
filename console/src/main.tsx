import '@fanfare/react/style.css';
import './style.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { loadLanguage } from './words/language.ts';

const root = document.getElementById('root');
// Not awaited at the top: then the bundler would make thirty files of what is one.
void loadLanguage().then(() => {
  if (root !== null)
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    );
});
