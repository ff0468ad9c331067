import './store/sessions.ts'; // layer-main
