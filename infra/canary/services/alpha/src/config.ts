import './store/things.ts'; // room-config
