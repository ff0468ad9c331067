import './store/sessions.ts'; // room-main
