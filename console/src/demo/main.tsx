import '../style.css';
import '../later.css';
import './demo.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { loadLanguage } from '../words/language.ts';
import { Demo } from './demo.tsx';

const root = document.getElementById('root');
// Not awaited at the top: then the bundler would make thirty files of what is one.
void loadLanguage().then(() => {
  if (root !== null)
    createRoot(root).render(
      <StrictMode>
        <Demo />
      </StrictMode>,
    );
});
