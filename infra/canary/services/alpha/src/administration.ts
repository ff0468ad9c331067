import './http/routes.ts'; // room-administration
